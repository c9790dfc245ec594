int counter;
int main() {
  counter = 1;
  return 0;
}
void worker(int x) {
  counter = x;
}
init { skip }
