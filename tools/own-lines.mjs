/**
 * ESLint rule: a function has at most `max` lines of its own, which are those that no function inside it has. `except` names functions
 * that put a program together, where one list is easier to read than several.
 */
export const ownLines = {
  meta: {
    type: 'suggestion',
    schema: [
      {
        type: 'object',
        properties: { max: { type: 'integer' }, except: { type: 'array', items: { type: 'string' } } },
        required: ['max', 'except'],
        additionalProperties: false,
      },
    ],
    messages: {
      tooLong:
        '{{name}} has {{lines}} lines of its own, at most {{max}} are allowed: give each of its steps a function (tools/own-lines.mjs).',
    },
  },
  create(context) {
    const [{ max, except }] = context.options;
    /** For each function around the present place: the lines of functions inside it. */
    const insideOf = [];
    return {
      ':function': () => void insideOf.push(0),
      ':function:exit': (node) => {
        const inside = insideOf.pop();
        const below = node.loc.end.line - node.loc.start.line;
        if (insideOf.length > 0) insideOf[insideOf.length - 1] += below;
        const lines = below + 1 - inside;
        const name = node.id?.name ?? node.parent.id?.name ?? node.parent.key?.name;
        if (lines <= max || except.includes(name)) return;
        const start = node.loc.start;
        const loc = { start, end: { line: start.line, column: start.column + 1 } };
        context.report({ loc, messageId: 'tooLong', data: { name: name ?? 'This function', lines, max } });
      },
    };
  },
};
