byte sum = 6, n, mean;

active proctype P()
{
  mean = sum / n
}
