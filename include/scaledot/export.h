/* SCALEDOT_EXPORT marks the public functions; everything else stays inside the library. */
#ifndef SCALEDOT_EXPORT_H
#define SCALEDOT_EXPORT_H

#if defined(__GNUC__)
#define SCALEDOT_EXPORT __attribute__((visibility("default")))
#else
#define SCALEDOT_EXPORT
#endif

#endif
