import type { Request, Response } from 'express';
import type { RoutePlace } from '@longwave/http-kit';
import type { z } from 'zod';
import type { Page } from '../pages/layout.ts';
import type { Session } from '../sessions/session.ts';

/** The people who may see a page: everybody, a person who is signed in, or one who gave the password a short time ago. */
type Access = 'anyone' | 'session' | 'password';

/** A request for a page, with everything that is known about its sender. */
export interface Visit<S extends Session | undefined = Session | undefined> {
  readonly request: Request;
  readonly response: Response;
  readonly session: S;
  /** For every form of the page. */
  readonly formToken: string;
  readonly now: Date;
  /** The address of the client, as `createSenderOf` writes it. */
  readonly sender: string;
  /** Fields of the form as they were sent. */
  readonly texts: Readonly<Record<string, string | readonly string[]>>;
}

/** The answer to a browser: a page, or the place where it goes on. Undefined when the handler has answered itself. */
export type PageAnswer =
  | (Page & { readonly setCookies?: readonly string[] })
  | { readonly redirect: string; readonly setCookies?: readonly string[]; readonly headers?: Record<string, string> }
  | undefined;

/** The fields of a form, or what is wrong with them. */
type Form<F extends z.ZodType> = z.ZodSafeParseResult<z.output<F>>;

export interface PageRoute extends RoutePlace {
  readonly access: Access;
  readonly form: z.ZodType | undefined;
  /** For a form that the console sends too. It knows no form token, so its requests count by where they come from alone, as its others do. */
  readonly isOfConsole?: boolean;
  readonly answer: (visit: Visit, form: never) => Promise<PageAnswer> | PageAnswer;
}

/** A page that is shown. */
export const showPage = <A extends Access>(
  path: string,
  access: A,
  answer: (visit: Visit<A extends 'anyone' ? Session | undefined : Session>) => Promise<PageAnswer> | PageAnswer,
): PageRoute => ({ method: 'GET', path, access, form: undefined, answer: answer as PageRoute['answer'] });

/** A form that is sent. Its schema is closed; the hidden form token is not among its fields. */
export const takeForm = <A extends Access, F extends z.ZodObject>(
  path: string,
  access: A,
  form: F,
  answer: (
    visit: Visit<A extends 'anyone' ? Session | undefined : Session>,
    form: Form<F>,
  ) => Promise<PageAnswer> | PageAnswer,
): PageRoute => ({ method: 'POST', path, access, form: form.strict(), answer: answer as PageRoute['answer'] });
