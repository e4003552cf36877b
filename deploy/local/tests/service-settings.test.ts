import { expect, test } from '@jest/globals';
import { settingsOf } from '../service-settings.ts';

test('services get the settings of the environment of npm start, and nothing else of it', () => {
  const environment = {
    ...{ LOG_LEVEL: 'debug', WEBSUB_HUB: 'https://hub.example', FETCH_ALLOW_ORIGINS: 'http://localhost:9000' },
    ...{ POLICY_URL: 'https://podcasts.example/data', TERMS_URL: 'https://podcasts.example/terms' },
    ...{
      PLANS_FILE: 'plans.json',
      DATABASE_URL: 'postgresql://elsewhere',
      S3_SECRET_KEY: 'secret',
      PATH: '/bin',
    },
  };
  expect(settingsOf(environment, '/home/me')['auth-server']).toEqual({
    LOG_LEVEL: 'debug',
    WEBSUB_HUB: 'https://hub.example',
    FETCH_ALLOW_ORIGINS: 'http://localhost:9000',
    PLANS_FILE: '/home/me/plans.json',
    POLICY_URL: 'https://podcasts.example/data',
    TERMS_URL: 'https://podcasts.example/terms',
  });
  expect(settingsOf({}, '/home/me')['public-delivery']).toEqual({});
});
