/* random model, seed 31 */
typedef T { byte f = 1; bit b };
T s0;
byte g0 = 1;
byte g1;

active proctype P() priority 1 {
  byte x0 = 1;
  bit x1;
  byte i0;
  atomic {
    atomic {
      set_priority(_pid, 1);
      atomic {
        s0.b = false;
        s0.b = (g0 == 1)
      };
      for (i0 : 0 .. 1) {
        if
        :: x1++
        :: (s0.f >= 1);
          s0.f = (2 / 3) % 2
        :: else;
          byte b0 = x1
        fi
      }
    };
    goto progress0
  };
  goto progress0;
  progress0: g0 = (g0 + 1) % 2
}
