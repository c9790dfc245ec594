/* truth: invalid end state: each of the two has what the other one waits for. */
bool left, right;

active proctype A()
{
  atomic { !left -> left = true };
  atomic { !right -> right = true };
  right = false;
  left = false
}

active proctype B()
{
  atomic { !right -> right = true };
  atomic { !left -> left = true };
  left = false;
  right = false
}
