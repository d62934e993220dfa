/*
 * reduce.h: huge angles modulo a right angle.
 */
#ifndef KM_REDUCE_H
#define KM_REDUCE_H

/* x = quadrant * pi/2 + r + low (mod 2 pi) for finite |x| >= 2^20; |r| <= pi/4,
 * |low| <= ulp(r)/2, to a relative 2^-64 or better.  Returns quadrant, 0..3. */
extern int km_reduce_angle(double x, double *r, double *low);

#endif
