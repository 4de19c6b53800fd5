import { testSeeds } from "./seed-blocks.ts";

testSeeds(26, 25);
