byte count;

active proctype P()
{
  do
  :: count < 3 -> conut++
  :: else -> break
  od;
  assert(count == 3)
}
