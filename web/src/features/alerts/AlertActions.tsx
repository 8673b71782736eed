import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { BellOff, BellRing } from 'lucide-react'
import { type AlertDetail, useEndSilence, useHandleAlert } from '../../api/alerts.ts'
import { useSession } from '../../api/session.ts'
import { saidBy, useMyName } from '../../lib/use-my-name.ts'
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
  const handle = useHandleAlert()
  const [name] = useMyName()
  if (!mayChange || alert.state === 'resolved') return null
  return (
    <>
      {alert.state === 'open' && (
        <HandlePopover id={alert.id} verb="acknowledge" action="Acknowledge" variant="filled">
          Says that someone is working on it. Stops reminders.
        </HandlePopover>
      )}
      {alert.state === 'acknowledged' && (
        <Button
          variant="default"
          loading={handle.isPending}
          onClick={() => handle.mutate({ id: alert.id, verb: 'unacknowledge', ...saidBy(name) }, { onError: failed })}
        >
          Un-acknowledge
        </Button>
      )}
      {quiet === null ? (
        <SilenceMenu target={alert} zone={zone}>
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
            onClick={() => end.mutate(quiet.id, { onError: failed })}
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

const failed = ({ message }: Error) => notifications.show({ color: 'danger', title: 'Not changed', message })
