/** An outside service to which changed feeds are announced. */
export interface AnnouncementPort {
  readonly name: string;
  /** Rejects when the service does not accept it. */
  readonly announce: (feedUrl: string) => Promise<void>;
}

const answerWithinMs = 10_000;

async function expectOk(answer: Response): Promise<void> {
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`it answered ${answer.status}`);
}

/** WebSub (W3C Recommendation, 2018): a publisher notifies its hub. The form is left to them; hubs accept this one. */
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
