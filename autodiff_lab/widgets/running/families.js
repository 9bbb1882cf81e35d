// Every family of twins.  A page for one recording leaves out the files that it does not need.

import {} from "./indexing.js";
import {} from "./products.js";
import {} from "./reductions.js";
import {} from "./shapes.js";
import {} from "./special.js";
import {} from "./walks.js";
