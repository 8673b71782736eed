import { memo } from 'react'
import type { ClientState } from '../../api/overview.ts'
import { counted } from '../../lib/words.ts'
import { StatusBadge } from '../../ui/status/StatusBadge.tsx'
import classes from './overview.module.css'

interface Props {
  client: ClientState
  siteCount: number
}

export const ClientLine = memo(function ClientLine({ client, siteCount }: Props) {
  return (
    <div className={classes.client}>
      <h2>{client.name}</h2>
      <span className={classes.muted}>{siteCount === 0 ? 'no site yet' : counted(siteCount, 'site')}</span>
      <span className={classes.clientState}>
        {client.open_alerts > 0 && <span>{counted(client.open_alerts, 'open alert')}</span>}
        {siteCount > 0 && <StatusBadge status={client.status} />}
      </span>
    </div>
  )
})
