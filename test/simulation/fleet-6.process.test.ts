import { testSeeds } from "./seed-blocks.ts";

testSeeds(126, 25);
