byte x;
x = 1;
if :: x -> skip fi
printf("hello");
init { skip }
