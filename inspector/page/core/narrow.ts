/** Sign that the page is as narrow as that of a phone, from the width at which page.css changes over. */

import { signal } from '@preact/signals';

const query = matchMedia('(max-width: 640px)');

export const isNarrow = signal(query.matches);
query.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches;
});
