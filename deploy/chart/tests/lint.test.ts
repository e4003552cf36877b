import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { chart, helm, root, valuesFiles, withHelm } from './_chart.ts';

const readJson = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

for (const file of valuesFiles)
  withHelm(`helm lint finds nothing with ${file}`, () => {
    const { status, stdout } = helm(['lint', '--strict', chart], file);
    expect(stdout).toContain('0 chart(s) failed');
    expect(status).toBe(0);
  });

test('the chart installs the release that it lies beside', () => {
  const { appVersion } = parse(readFileSync(path.join(chart, 'Chart.yaml'), 'utf8')) as { appVersion: string };
  expect(appVersion).toBe((readJson(path.join(root, 'package.json')) as { version: string }).version);
});

test('every metric by which a service may be scaled is a gauge that services report', () => {
  const text = readFileSync(path.join(chart, 'values.schema.json'), 'utf8');
  const { definitions } = JSON.parse(text) as {
    definitions: {
      service: {
        properties: {
          autoscaling: { properties: { metrics: { items: { properties: { name: { enum: string[] } } } } } };
        };
      };
    };
  };
  const page = readFileSync(path.join(root, 'docs/observe.md'), 'utf8').split('\n');
  const gauges = page.flatMap((line) => /^\| `(\w+)` +\| gauge/.exec(line)?.[1] ?? []);
  const { enum: offered } = definitions.service.properties.autoscaling.properties.metrics.items.properties.name;
  expect(offered.length).toBeGreaterThan(0);
  expect(gauges).toEqual(expect.arrayContaining(offered));
});
