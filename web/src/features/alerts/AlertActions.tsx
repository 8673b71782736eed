import { Button } from '@mantine/core'
import { BellOff, BellRing } from 'lucide-react'
import { type AlertDetail, useEndSilence } from '../../api/alerts.ts'
import { useSession } from '../../api/session.ts'
import type { Quiet } from '../../ui/quiet/quiet.ts'
import { SilenceMenu } from '../../ui/quiet/SilenceMenu.tsx'
import { HandlePopover } from './HandlePopover.tsx'

interface Props {
  alert: AlertDetail
  quiet: Quiet | null
  zone: string
}

/** What can be done about an alert that is not over. */
export function AlertActions({ alert, quiet, zone }: Props) {
  const { mayChange } = useSession()
  const end = useEndSilence()
  if (!mayChange || alert.state === 'resolved') return null
  return (
    <>
      {alert.state === 'open' && (
        <HandlePopover id={alert.id} verb="acknowledge" action="Acknowledge" variant="filled">
          Says that somebody takes care of it. No more reminders are sent.
        </HandlePopover>
      )}
      {quiet === null ? (
        <SilenceMenu place={alert} zone={zone}>
          <Button variant="default" leftSection={<BellOff size={16} aria-hidden />}>
            Silence
          </Button>
        </SilenceMenu>
      ) : (
        quiet.kind === 'silence' && (
          <Button
            variant="default"
            leftSection={<BellRing size={16} aria-hidden />}
            loading={end.isPending}
            onClick={() => end.mutate(quiet.id)}
          >
            End the silence
          </Button>
        )
      )}
      <HandlePopover id={alert.id} verb="resolve" action="Resolve">
        Ends the alert by hand. If the next result is bad too, another one opens.
      </HandlePopover>
    </>
  )
}
