import type { EcommerceRates, EventProfile, UserDataRates } from './profile.ts'

const BROWSING: EcommerceRates = { value: 0.97, currency: 0.99, items: 0.99 }
const BUYING: EcommerceRates = { value: 0.995, currency: 0.998, items: 0.99, transactionId: 0.997 }

/** A shop's events. `userData` are the rates at the check-out; while browsing only few visitors are known. */
export function shopEvents(userData: UserDataRates): readonly EventProfile[] {
  const known = (sent: number): UserDataRates => ({ ...userData, sent })
  return [
    { name: 'page_view', weight: 40, userData: known(0.15) },
    { name: 'view_item_list', weight: 9, ecommerce: { ...BROWSING, value: 0.4 } },
    { name: 'view_item', weight: 18, ecommerce: BROWSING },
    { name: 'add_to_cart', weight: 10, ecommerce: BROWSING, userData: known(0.25) },
    { name: 'begin_checkout', weight: 8, ecommerce: BROWSING, userData: known(0.7) },
    { name: 'purchase', weight: 10, ecommerce: BUYING, userData },
    { name: 'sign_up', weight: 3, userData },
    { name: 'search', weight: 2 },
  ]
}
