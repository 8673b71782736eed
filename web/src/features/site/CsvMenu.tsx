import { Button, Menu } from '@mantine/core'
import { Download } from 'lucide-react'
import { type Cut, exportUrl } from '../../api/analytics.ts'
import type { Query } from '../../api/client.ts'
import type { Focus } from './use-site-view.ts'

interface Props {
  siteId: string
  query: Query
  focus: Focus | null
}

/** What is on the page, as files. */
export function CsvMenu({ siteId, query, focus }: Props) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<Download size={16} aria-hidden />}>
          CSV
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {focus !== null && <Menu.Label>Of {focus.name}</Menu.Label>}
        {cutsOf(focus).map(({ label, ...cut }) => (
          <Menu.Item key={label} component="a" href={exportUrl(siteId, query, cut)} download>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

export function cutsOf(focus: Focus | null): (Cut & { label: string })[] {
  if (focus?.kind === 'tag') {
    const tag_key = focus.name
    return [
      { label: 'Executions by outcome', metric: 'executions', group_by: 'outcome', tag_key },
      { label: 'Failures by event', metric: 'failures', group_by: 'event_name', tag_key },
      { label: 'Execution time', metric: 'latency', tag_key },
    ]
  }
  if (focus?.kind === 'event') {
    const event_name = focus.name
    return [
      { label: 'Events', metric: 'events', event_name },
      { label: 'Executions by tag', metric: 'executions', group_by: 'tag_key', event_name },
      { label: 'Failures by tag', metric: 'failures', group_by: 'tag_key', event_name },
    ]
  }
  return [
    { label: 'Events by name', metric: 'events', group_by: 'event_name' },
    { label: 'Executions by tag', metric: 'executions', group_by: 'tag_key' },
    { label: 'Failures by tag', metric: 'failures', group_by: 'tag_key' },
    { label: 'Execution time', metric: 'latency' },
    { label: 'User data by field', metric: 'user_data', group_by: 'field' },
    { label: 'E-commerce by field', metric: 'ecommerce', group_by: 'field' },
    { label: 'Score', metric: 'score' },
  ]
}
