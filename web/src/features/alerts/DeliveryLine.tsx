import type { DeliveryRecord } from '../../api/deliveries.ts'
import { duration } from '../../lib/words.ts'
import { channelName, deliveryStatus } from '../../ui/delivery/words.ts'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import classes from './detail.module.css'

/** Whether a message arrived over a channel, and why not. */
export function DeliveryLine({ delivery }: { delivery: DeliveryRecord }) {
  return (
    <li>
      <StatusMark status={deliveryStatus(delivery)} size={10} />
      <span>
        <b>{channelName(delivery)}</b> {outcome(delivery)}
        {delivery.note !== null && <span className={classes.muted}> ({delivery.note})</span>}
      </span>
    </li>
  )
}

function outcome({ state, created_at, delivered_at, attempts, last_error }: DeliveryRecord): string {
  const why = last_error === null ? '' : `: ${last_error}`
  switch (state) {
    case 'delivered':
      return delivered_at === null
        ? 'delivered'
        : `delivered ${duration(Date.parse(delivered_at) - Date.parse(created_at))} later`
    case 'pending':
      return attempts === 0 ? 'is on its way' : `not yet after ${attempts} ${attempts === 1 ? 'try' : 'tries'}${why}`
    case 'failed':
      return `not delivered${why}`
    case 'cancelled':
      return `cancelled${why}`
  }
}
