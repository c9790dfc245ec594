#defin N 3
#define
#define f(a, a) a
#define g(a b) a
#include nowhere
#include "nowhere.h"
#include <stdio.h>
#include "../secret"
#if 1 +
#endif
#if 1 / 0
#elif 1
#else
#else
#endif
#endif
#error stop here
#warning look here
#define N 1
#define N 2
#undef 3
#pragma once
#line 7
init { skip }
#ifdef X
