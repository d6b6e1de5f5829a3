import { booking } from './booking.ts';
import type { Effect } from './effect.ts';
import { giftCard } from './gift-card.ts';
import { invoice } from './invoice.ts';
import { loyalty } from './loyalty.ts';
import { packages } from './packages.ts';

/** The consequences of a paid order, in the order in which they are applied and reversed: add yours here. */
export const EFFECTS: readonly Effect[] = [booking, loyalty, giftCard, packages, invoice];
