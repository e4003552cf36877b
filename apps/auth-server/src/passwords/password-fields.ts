import { z } from 'zod';

/** An address as a person writes it: compared without regard to case and to spaces around it. */
export const emailField = z.string().trim().pipe(z.email().max(255).toLowerCase());

/** A password as it is given; a bound keeps a hash from being made of a book. */
export const passwordField = z.string().min(1).max(200);

const minLength = 10;

/** A password that a person chooses (NIST SP 800-63B-4: length counts, not kinds of characters). */
export const newPasswordField = z
  .string()
  .min(minLength, `Use at least ${minLength} characters.`)
  .max(200, 'Use at most 200 characters.')
  .refine((text) => new Set(text).size >= 5, 'Use more than four different characters.');
