import { testSeeds } from "./seed-blocks.ts";

testSeeds(51, 25);
