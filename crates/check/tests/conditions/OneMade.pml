/* progress steps */
/* Both have to make progress before they can meet for ever. */
chan r = [0] of { bit };
active proctype P() { bit x; if :: atomic { skip; progress: x = 1 } :: skip; goto Stop fi; do :: r!1 od; Stop: skip }
active proctype Q() { bit x; if :: atomic { skip; progress: x = 1 } :: skip; goto Stop fi; do :: r?_ od; Stop: skip }
