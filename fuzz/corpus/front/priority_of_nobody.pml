/* the priority of a process that does not exist */
active proctype P() { set_priority(5, 2); assert(get_priority(5)==0) }
