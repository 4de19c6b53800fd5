import { testSeeds } from "./seed-blocks.ts";

testSeeds(101, 25);
