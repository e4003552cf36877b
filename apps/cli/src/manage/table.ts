/** Rows of texts as aligned columns. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Columns of a terminal that help is written for. */
const lineWidth = 120;

/** Words in lines that are no longer than a terminal is wide, each after an indent. */
export function wrapped(text: string, indent: string): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && indent.length + longer.length <= lineWidth) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.map((line) => indent + line).join('\n');
}

/** The widest column of names; a longer name has its description on the next line. */
const maxNameWidth = 48;

/** Names with their descriptions, which go on below themselves: `  --name TEXT   required`. */
export function describedLines(rows: readonly (readonly [name: string, description: string])[]): string {
  const width = Math.max(0, ...rows.map(([name]) => name.length).filter((length) => length <= maxNameWidth));
  const indent = ' '.repeat(width + 4);
  return rows
    .map(([name, description]) => {
      const below = wrapped(description, indent);
      return name.length > width ? `  ${name}\n${below}` : `  ${name.padEnd(width)}  ${below.trimStart()}`;
    })
    .join('\n');
}
