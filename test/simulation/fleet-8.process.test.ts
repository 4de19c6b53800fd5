import { testSeeds } from "./seed-blocks.ts";

testSeeds(176, 25);
