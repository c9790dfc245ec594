bool locked;
byte critical;

active [2] proctype worker()
{
do
:: !locked ->
locked = true;
critical++;
assert(critical == 1);
critical--; locked = false
od
}
