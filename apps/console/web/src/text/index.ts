import { common } from './common.ts';
import { login } from './login.ts';
import { overview } from './overview.ts';
import { spend } from './spend.ts';

/** Every text of the pages, one file for each page. Texts with figures are functions. */
export const text = { common, login, overview, spend };
