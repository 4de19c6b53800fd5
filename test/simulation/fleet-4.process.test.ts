import { testSeeds } from "./seed-blocks.ts";

testSeeds(76, 25);
