/** The icon of the tools: five bars of sound. */
export const iconSvg =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="14" fill="#1f3a5f"/>' +
  '<path d="M14.5 24v16M23.5 17v30M32.5 10v44M41.5 17v30M50.5 24v16" stroke="#fff" stroke-width="5"/></svg>';

/** The same with 64 pixels on a side. */
export const iconPng = Buffer.from(
  [
    'iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAYAAACqaXHeAAAArElEQVR42u3bQQ5AMABEUTdxD5dx/1PUTiJKRKTFPEl3Nv8t6QzjNA83T3nZudXx1djHUP4a',
    'fhkiIf4UISX+ECEpvoqQFr9DSIzfIAAIjV8RugHUHgAAAHQBKMEABQCATnFPvQMAAAAAAAA0BGgZ1wIJAAAAAAAAAAAAAAAAAAAAAOCDCAAAAAAAAOD3OIAo',
    'ALfEAAAAEH9Z2l4AgMmM0ZTZnOGk6azxdNx8fgFmRpYNMViUJQAAAABJRU5ErkJggg==',
  ].join(''),
  'base64',
);
