/* truth: ltl safe holds; ltl comes is violated, with weak fairness too, and holds with strong fairness. To test the lock and
   to take it is one step, so nobody comes in between. */
bool locked;
byte critical;

active [2] proctype worker()
{
  do
  :: atomic { !locked -> locked = true };
     critical++;
cs:  assert(critical == 1);
     critical--;
     locked = false
  od
}

ltl safe { [] (critical <= 1) }
ltl comes { []<> worker[0]@cs }
