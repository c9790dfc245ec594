/* random model, seed 42 */
#define K 3
#define IS(v, w) ((v) == (w))
mtype = { red, green, blue };
typedef T { byte f; bit e[2] };
T s0;
byte g0;
show bool g1;
show bit g2 = 1;

proctype P() {
    byte x0;
    bit x1 = 1;
    if
    :: (g0 != 1 || !x1) ->
        timeout
    :: (g0 <= 1 -> x1 : g2 != 1) ->
        assert(x0 < 5)
    :: else ->
        !g1
    fi;
    end_wait: do
    :: g2 = 'a'
    :: (IS(x0, 0) || x0 != 0) ->
        if
        :: (x1 < 1)
        fi;
        do
        :: (s0.f >= 0)
        :: do
            :: g1 = (g1 == 0) ->
                x1 = 1
            :: IS(x1, 1)
            od ->
            x1 = true
        :: else ->
            break
        od
    od
}

active proctype Q() {
    end_wait: do
    :: else ->
        break
    :: !g2
    :: !g2 ->
        if
        :: _nr_pr < 3 ->
            g0 = run P()
        :: else
        fi
    od
}

active proctype R() {
    run P();
    do
    :: g2 == 1
    :: g0 = (g0 + 1) % 2 ->
        g1--
    :: s0.e[0] != 0 ->
        break
    od
}
