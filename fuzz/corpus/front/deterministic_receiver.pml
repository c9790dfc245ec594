/* two receives of a D_proctype answer one message */
byte x; chan c=[0] of {byte}; active D_proctype P(){ if :: c?1 :: c?x fi } active proctype Q(){ c!1 }
