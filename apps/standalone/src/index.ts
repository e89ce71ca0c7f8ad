export { type Part, PARTS } from './parts.ts';
