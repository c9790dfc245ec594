active proctype P {
  skip
}
