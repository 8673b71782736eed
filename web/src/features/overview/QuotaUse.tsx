import { Gauge } from 'lucide-react'
import type { Overview } from '../../api/overview.ts'
import { TextLink } from '../../ui/LinkButton.tsx'
import { Banner } from './Banner.tsx'
import { quotaWords } from './quota-use.ts'

/** Says whose events are refused, or will be soon, because the quota of the month is used up. */
export function QuotaUse({ clients }: { clients: Overview['clients_near_quota'] }) {
  return quotaWords(clients).map(({ level, words, named, more }) => (
    <Banner
      key={level}
      id={`quota-${level}`}
      tone={level === 'exceeded' ? 'critical' : 'warning'}
      icon={Gauge}
      words={words}
      named={named.map(({ id, name, used }) => ({
        id,
        link: (
          <>
            <TextLink to="/clients/$clientId" params={{ clientId: id }}>
              {name}
            </TextLink>{' '}
            {used}
          </>
        ),
      }))}
      more={more}
    />
  ))
}
