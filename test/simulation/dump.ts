import { Dice } from './world/dice.ts';
import { inventPlan } from './plan/invent.ts';
const seed = Number(process.argv[2]);
const dice = new Dice(Math.imul(seed, 0x9e3779b1)); dice.percent(3);
console.log(JSON.stringify(inventPlan(dice.fork()), null, 1));
