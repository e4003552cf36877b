/** The part of JSON Schema that the catalog of commands emits. */
export interface Schema {
  /** What the field is called where these pages name it otherwise than all others of its name. */
  readonly title?: string;
  /** Of one of several forms of a value: the kind of the whole with which it is meant. */
  readonly ofKind?: string;
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'null' | undefined;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly enum?: readonly string[];
  readonly const?: string | boolean | number;
  readonly pattern?: string;
  readonly format?: string;
  /** Of a time: it may be written with any offset from UTC. */
  readonly anyOffset?: true;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}

/** A command as its form needs it. */
export interface CommandForm {
  /** `line_item.pause` */
  readonly type: string;
  /** States of the subject in which it can be sent; null for one that makes its subject. */
  readonly from: readonly string[] | null;
  /** The state that it leads to, where it is one. */
  readonly to?: string;
  readonly roles: readonly string[];
  /** The review that the catalog declares: `none`, `single`, `dual`, `policy`, `host`. */
  readonly review: string;
  /** Whether the version that the person saw has to be named. */
  readonly guard: string;
  /** In English. */
  readonly summary: string;
  /** What it causes outside, in English. */
  readonly effect?: string;
  readonly schema: Schema;
}

/** A resource type with the commands that people send about it. */
export interface TypeForms {
  readonly type: string;
  readonly noun: string;
  readonly states: readonly string[];
  readonly terminalStates: readonly string[];
  /** The types of those attributes that name another resource. */
  readonly links: Readonly<Record<string, string>>;
  readonly commands: readonly CommandForm[];
}
