import type { Pool } from '@longwave/postgres';
import { rpcService, type RpcService } from '@longwave/rpc';
import { BookingServiceService } from '@longwave/rpc/forecast';
import { listSellers } from '../commerce/forecasts/list-sellers.ts';
import { createSendBooking } from '../commerce/forecasts/send-booking.ts';

/** What is sold, for forecasts. */
export function bookingService({ pool, clock }: { readonly pool: Pool; readonly clock: () => Date }): RpcService {
  const sendBooking = createSendBooking(pool, clock);
  return rpcService(
    BookingServiceService,
    { readBooking: ['forecaster'], listSellers: ['forecaster'] },
    {
      readBooking: (request, _context, send) => sendBooking(request, send),
      listSellers: async () => ({ sellers: await listSellers(pool, clock()) }),
    },
  );
}
