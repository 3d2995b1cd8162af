/* Edits of a store's database by another program: seals its pages, as Kept does when it writes them. */
#ifndef FOREIGN_EDITS_H
#define FOREIGN_EDITS_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../../Sources/CPlatform/Checksum.h"

/* Puts the salt of the first page and the right checksum into every page of a database that is closed; returns the
 * number of pages. */
static int seal_pages(const char *path) {
  enum { PAGE = 4096 };
  unsigned char page[PAGE], salt[4] = { 0 };
  FILE *file = fopen(path, "r+b");
  int number = 0;
  while (file != NULL && fread(page, PAGE, 1, file) == 1) {
    number++;
    unsigned char place[4];
    for (int i = 0; i < 4; i++) place[i] = (unsigned char)((uint32_t)number >> (24 - 8 * i));
    if (number == 1) memcpy(salt, page + PAGE - 8, 4);
    memcpy(page + PAGE - 8, salt, 4);
    uint32_t sum = kept_checksum(kept_checksum(0, place, 4), page, PAGE - 4);
    for (int i = 0; i < 4; i++) page[PAGE - 4 + i] = (unsigned char)(sum >> (24 - 8 * i));
    if (fseek(file, -PAGE, SEEK_CUR) != 0 || fwrite(page, PAGE, 1, file) != 1 || fseek(file, 0, SEEK_CUR) != 0) break;
  }
  if (file != NULL) fclose(file);
  return number;
}

#endif
