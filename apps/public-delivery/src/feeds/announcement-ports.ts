/** Somebody outside who wants to know that a feed changed. */
export interface AnnouncementPort {
  readonly name: string;
  /** Rejects when it was not taken. */
  readonly announce: (feedUrl: string) => Promise<void>;
}

const answerWithinMs = 10_000;

async function expectOk(answer: Response): Promise<void> {
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`it answered ${answer.status}`);
}

/** WebSub (W3C Recommendation, 2018): a publisher tells its hub; how is left to them, and this is what hubs have always taken. */
export function websubPort(hubUrl: string): AnnouncementPort {
  return {
    name: 'websub',
    announce: async (feedUrl) =>
      expectOk(
        await fetch(hubUrl, {
          method: 'POST',
          body: new URLSearchParams({ 'hub.mode': 'publish', 'hub.url': feedUrl, 'hub.topic': feedUrl }),
          signal: AbortSignal.timeout(answerWithinMs),
        }),
      ),
  };
}

/** Podping: a GET with the feed's address and a reason; watchers of the whole world see it within seconds. */
export function podpingPort(url: string, token: string): AnnouncementPort {
  return {
    name: 'podping',
    announce: async (feedUrl) => {
      const address = new URL(url);
      address.searchParams.set('url', feedUrl);
      address.searchParams.set('reason', 'update');
      address.searchParams.set('medium', 'podcast');
      await expectOk(
        await fetch(address, {
          headers: { authorization: token, 'user-agent': 'Longwave' },
          signal: AbortSignal.timeout(answerWithinMs),
        }),
      );
    },
  };
}
