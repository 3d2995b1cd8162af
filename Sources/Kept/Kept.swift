// The Swift face.
