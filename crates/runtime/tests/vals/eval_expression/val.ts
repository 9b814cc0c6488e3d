1 + 1 // the answer
