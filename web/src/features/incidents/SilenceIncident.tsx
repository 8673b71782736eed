import { Menu } from '@mantine/core'
import { type ReactElement, useState } from 'react'
import type { AlertRecord } from '../../api/alerts.ts'
import { SilenceSpans } from '../../ui/mute/SilenceMenu.tsx'
import { useSilencing } from '../../ui/undo.tsx'
import { incidentScopes } from './rows.ts'

interface SilenceIncidentProps {
  /** The incident's id. */
  id: string
  /** The incident's alerts. */
  alerts: readonly AlertRecord[]
  /** IANA zone: "tomorrow" is tomorrow there. */
  zone: string
  /** The button that opens it. */
  children: ReactElement
  opened?: boolean
  onChange?: (opened: boolean) => void
}

/** Silences an incident for a while, in two clicks; optionally its whole sites. */
export function SilenceIncident({ id, alerts, zone, children, opened, onChange }: SilenceIncidentProps) {
  const [reach, setReach] = useState<'incident' | 'sites'>('incident')
  const { runAll } = useSilencing()
  const sites = incidentScopes(id, alerts, 'sites')
  // The last alert may be resolved while the menu is open.
  const chosen = sites.length === 0 ? 'incident' : reach
  return (
    <Menu
      position="bottom-end"
      onOpen={() => setReach('incident')}
      {...(opened === undefined ? {} : { opened })}
      {...(onChange === undefined ? {} : { onChange })}
    >
      <Menu.Target>{children}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>What to silence</Menu.Label>
        <Menu.RadioGroup value={chosen} onChange={(value) => setReach(value === 'sites' ? 'sites' : 'incident')}>
          <Menu.RadioItem value="incident">This incident, with what joins it</Menu.RadioItem>
          {sites.length > 0 && (
            <Menu.RadioItem value="sites">
              {sites.length === 1 ? 'The whole site' : `All of ${sites.length} sites`}
            </Menu.RadioItem>
          )}
        </Menu.RadioGroup>
        <Menu.Divider />
        <SilenceSpans
          zone={zone}
          onChoose={(end) => runAll(incidentScopes(id, alerts, chosen).map((scope) => ({ ...scope, ...end })))}
        />
      </Menu.Dropdown>
    </Menu>
  )
}
