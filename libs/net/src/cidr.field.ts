import { z } from 'zod';
import { type Cidr, parseCidr } from './address.guard.ts';

const NETWORKS_EXPECTED = 'must be networks such as 10.1.0.0/16 or fd00::/8, with commas between';

/** Comma-separated networks in CIDR notation; none if the variable is not set. */
export function cidrListField() {
  return z
    .string()
    .transform((text, ctx): Cidr[] => {
      const cidrs: Cidr[] = [];
      for (const part of text.split(',').map((each) => each.trim())) {
        if (part === '') continue;
        const cidr = parseCidr(part);
        if (cidr !== null) cidrs.push(cidr);
        else ctx.addIssue({ code: 'custom', message: NETWORKS_EXPECTED });
      }
      return cidrs;
    })
    .prefault('');
}

/** The same as text, for programs that pass it on to services that read it with {@link cidrListField}. */
export function cidrTextField() {
  return z
    .string()
    .default('')
    .refine((text) => cidrListField().safeParse(text).success, NETWORKS_EXPECTED);
}
