console.log('about to');
throw { code: 7 };
