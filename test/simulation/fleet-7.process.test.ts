import { testSeeds } from "./seed-blocks.ts";

testSeeds(151, 25);
