import { z } from 'zod';
import { html, type Html } from './html.ts';

/** Name of the field that proves that a form came from our own page. */
export const formTokenName = 'form_token';

/** The hidden field that every form carries. */
export const formTokenField = (token: string): Html =>
  html`<input type="hidden" name="${formTokenName}" value="${token}" />`;

/** A field of a form with its label, its hint and, after a refusal, what is wrong with it. */
interface TextField {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'email' | 'password';
  /** How a browser fills it in (HTML autofill). */
  readonly autocomplete: string;
  readonly hint?: string;
  readonly value?: string | undefined;
  readonly error?: string | undefined;
  /** Default: it must be filled in. */
  readonly optional?: true;
}

export function textField({ name, label, type = 'text', autocomplete, hint, value, error, optional }: TextField): Html {
  const described = [hint !== undefined && `${name}-hint`, error !== undefined && `${name}-error`].filter(Boolean);
  return html`<div class="field">
    <label for="${name}">${label}</label>
    ${hint !== undefined && html`<span class="hint" id="${name}-hint">${hint}</span>`}
    <input
      id="${name}"
      name="${name}"
      type="${type}"
      autocomplete="${autocomplete}"
      maxlength="255"
      ${!optional && html`required`}
      ${value !== undefined && html`value="${value}"`}
      ${described.length > 0 && html`aria-describedby="${described.join(' ')}"`}
      ${error !== undefined && html`aria-invalid="true"`}
    />
    ${error !== undefined && html`<span class="error" id="${name}-error">${error}</span>`}
  </div>`;
}

/** A name in one line, as a person types it. */
export const nameField = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^[^\r\n]*$/);
