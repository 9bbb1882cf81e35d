// Every family of twins.  A page for one recording leaves out the files that it does not need.

import {} from "./convolution.js";
import {} from "./indexing.js";
import {} from "./networks.js";
import {} from "./products.js";
import {} from "./recurrent.js";
import {} from "./reductions.js";
import {} from "./shapes.js";
import {} from "./special.js";
